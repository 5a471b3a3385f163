#!/usr/bin/env node
// Runs a program without a system, built for wasm32-unknown-unknown: `node run.mjs PROGRAM`.
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
process.exitCode = instance.exports.main(0, 0);
console.log(`main returned ${process.exitCode}`);
