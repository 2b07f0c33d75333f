process.stderr.write(
  "package.json: this folder holds TypeScript, and a package has to hold JavaScript (Node strips no types under node_modules)\n" +
    "  Next: npm run pack -- --out DIR, from the top of the checkout\n",
);
process.exitCode = 1;
