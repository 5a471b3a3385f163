#!/usr/bin/env -S node --no-warnings
// Runs a program built for wasm32-wasip1-threads: `node wasi.mjs PROGRAM`. Each of its threads is a
// worker of Node, its first one too: only Node's main thread can start a worker while others wait.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WASI } from "node:wasi";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

async function main() {
  const module = await WebAssembly.compile(await readFile(process.argv[2]));
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 16384, shared: true });
  const started = new Int32Array(new SharedArrayBuffer(4));
  const start = (thread) => {
    const data = { module, memory, started, ...thread };
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
    worker.on("message", ({ code, ...thread }) => (code === undefined ? start(thread) : process.exit(code)));
  };
  start({ number: 0 });
}

async function thread() {
  const { module, memory, started, number, argument } = workerData;
  const wasi = new WASI({ version: "preview1", env: process.env });
  const spawn = (argument) => {
    const number = Atomics.add(started, 0, 1) + 1;
    parentPort.postMessage({ number, argument });
    return number;
  };
  // Ends the program, whichever thread calls it; the caller waits for that.
  const proc_exit = (code) => {
    parentPort.postMessage({ code });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  const imports = {
    env: { memory },
    wasi: { "thread-spawn": spawn },
    wasi_snapshot_preview1: { ...wasi.wasiImport, proc_exit },
  };
  const instance = await WebAssembly.instantiate(module, imports);
  if (number === 0) {
    parentPort.postMessage({ code: wasi.start(instance) });
  } else {
    wasi.initialize({ exports: { memory } });
    instance.exports.wasi_thread_start(number, argument);
  }
}

await (isMainThread ? main() : thread());
