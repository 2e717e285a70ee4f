import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { build } from 'vite'

const cache = resolve('node_modules/.cache/frameworks')

/**
 * The pages beside the Vite configuration `config` as an application has them: beside the package as it is published, built by Vite for production. Made once for all browsers; gives the folder, with
 * `pages` (their sources), `built` (what a browser loads) and `package` (the unpacked tarball).
 */
export async function builtPages(config: string): Promise<{ pages: string; built: string; package: string }> {
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, 'making-'))
  const [tarball = ''] = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', making], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .slice(-1)
  const home = join(cache, hashOf([join(making, tarball), ...globSync(`${dirname(config)}/**/*.{ts,tsx,vue,svelte,html}`).toSorted()]))
  if (!existsSync(home)) {
    install(making, tarball, dirname(config))
    const pages = join(making, 'pages')
    await build({
      ...{ root: pages, configFile: join(pages, basename(config)), logLevel: 'error' },
      build: { outDir: join(making, 'built'), emptyOutDir: true },
    })
    try {
      renameSync(making, home)
    } catch {
      // Another browser was faster, and made the same.
    }
  }
  rmSync(making, { recursive: true, force: true })
  // What was made of older sources.
  for (const other of readdirSync(cache)) {
    if (other !== basename(home) && !other.startsWith('making-')) rmSync(join(cache, other), { recursive: true, force: true })
  }
  return {
    pages: join(home, 'pages'),
    built: join(home, 'built'),
    package: join(home, 'node_modules/phi-core'),
  }
}

/** The pages, the unpacked package, and beside it what this repository has installed: frameworks and dependencies are the same ones. */
function install(folder: string, tarball: string, sources: string): void {
  const modules = join(folder, 'node_modules')
  cpSync(sources, join(folder, 'pages'), { recursive: true })
  mkdirSync(join(modules, 'phi-core'), { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', join(modules, 'phi-core'), '--strip-components=1'])
  for (const name of readdirSync('node_modules')) {
    if (!name.startsWith('.') && name !== 'phi-core') symlinkSync(resolve('node_modules', name), join(modules, name))
  }
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(readFileSync(path))
  return hash.digest('hex').slice(0, 16)
}
