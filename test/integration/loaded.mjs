// Preloaded into a process: writes the modules that it has loaded to the file that LOADED_MODULES names, one a line.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
    return next(url, context);
  },
});
