import { readFileSync } from 'node:fs';

// Runs first in every gpugate of the chaos test: shifts the clock that JavaScript sees by the milliseconds in a file, which
// each pod has of its own. Timers go on as they are, as they do when the real clock jumps. OpenSSL's clock is not shifted.
const FILE = `/gpugate/clock-${process.env.HOSTNAME}`;
const Real = Date;
let offset = 0;

setInterval(() => {
  try {
    offset = Number(readFileSync(FILE, 'utf8'));
  } catch {
    offset = 0; // Not written: the right time.
  }
}, 100).unref();

globalThis.Date = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [Real.now() + offset] : args, self),
  get: (target, key, self) => (key === 'now' ? () => Real.now() + offset : Reflect.get(target, key, self)),
});
