import { arch, cpus, platform, totalmem } from "node:os";

/** This machine, as a reader of figures wants to know it. */
export function machineLine(): string {
  const cores = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} cores (${cores[0]?.model.trim() ?? "unknown"}), ${memoryGb} GB, ${platform()} ${arch()}, Node ${process.version}`;
}
