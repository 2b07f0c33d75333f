import http from "node:http";

/** The least that a proxy in Node does: `node bare-pipe.ts PORT ORIGIN_PORT`. No rule, no record, no time limit. */
const [port, originPort] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true, scheduling: "lifo", maxFreeSockets: 1_024 });

const server = http.createServer((request, response) => {
  const { method, url: path, headers } = request;
  const sent = http.request({ agent, host: "127.0.0.1", port: originPort, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  request.pipe(sent);
});
server.keepAliveTimeout = 65_000;
server.listen(port, "127.0.0.1");
