// Preloaded into a process: every way to the network throws.
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const refuse = (what) => () => {
  // Not to be caught by what has called it: the process ends here.
  process.stderr.write(`network: ${what}\n`);
  process.exit(99);
};
net.Socket.prototype.connect = refuse('connect');
net.Server.prototype.listen = refuse('listen');
dgram.Socket.prototype.send = refuse('send');
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  dns[name] = refuse(`dns.${name}`);
  dns.promises[name] = refuse(`dns.promises.${name}`);
}
syncBuiltinESMExports();
