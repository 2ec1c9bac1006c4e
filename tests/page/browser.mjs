// The browser that tests, screenshots and timings drive: Debian's Chromium, by the packages the build fetched.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

// What package-lock.json names, in the build folder (cmake/BuildPage.cmake).
export function packagesOf(build) {
  const folder = join(build, 'page/source');
  const require = createRequire(join(folder, 'package.json'));
  return (name) => {
    try {
      return require(name);
    } catch (e) {
      if (e.code !== 'MODULE_NOT_FOUND') throw e;
      throw new Error(`${name} is not in ${folder}/node_modules: npm must be able to fetch it when the program is built. ` +
                      `Remove ${join(build, 'page')} and build again, with -DGLASSFORMER_BUILD_PAGE=ON to be told what is wrong.`);
    }
  };
}

function executable() {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`no browser at ${candidates.join(', ')}: run scripts/setup.sh --test, or apt-get install chromium, or name one with CHROMIUM=PATH`);
  return found;
}

// Chromium's own sandbox does not work for root, as in containers. Colours are compared, so they are those of sRGB.
export function launch(build) {
  const { chromium } = packagesOf(build)('playwright-core');
  const args = ['--disable-gpu', '--force-color-profile=srgb', '--disable-background-networking', '--no-proxy-server', '--process-per-site'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  return chromium.launch({ executablePath: executable(), args });
}
