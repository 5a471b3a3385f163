#!/usr/bin/env -S node --no-warnings
// Runs a program built for wasm32-wasip1-threads, whose threads are workers of Node:
// `node wasi.cjs PROGRAM`. Needs the package @emnapi/wasi-threads 2. The file is no ES module, because
// a worker could not load one while its starter waits for it.
const { readFileSync } = require("node:fs");
const { WASI } = require("node:wasi");
const { isMainThread, parentPort, Worker } = require("node:worker_threads");
const { ThreadMessageHandler, WASIThreads } = require("@emnapi/wasi-threads");

const wasi = new WASI({ version: "preview1", env: process.env });
const start = (program, memory, threads) =>
  WebAssembly.instantiate(program, {
    env: { memory },
    wasi_snapshot_preview1: wasi.wasiImport,
    ...threads.getImportObject(),
  });

async function main() {
  const onCreateWorker = () => new Worker(__filename);
  const threads = new WASIThreads({ wasi, onCreateWorker, waitThreadStart: 60_000 });
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 16384, shared: true });
  const program = readFileSync(process.argv[2]);
  const { module, instance } = await start(program, memory, threads);
  threads.setup(instance, module, memory);
  process.exit(wasi.start(instance));
}

function thread() {
  // The package expects the globals of a browser's worker.
  globalThis.self = globalThis;
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  const threads = new WASIThreads({ wasi, childThread: true });
  const onLoad = async ({ wasmModule, wasmMemory }) => {
    const instance = await start(wasmModule, wasmMemory, threads);
    return { module: wasmModule, instance: threads.initialize(instance, wasmModule, wasmMemory) };
  };
  const handler = new ThreadMessageHandler({ onLoad });
  parentPort.on("message", (data) => handler.handle({ data }));
}

isMainThread ? main() : thread();
