import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'vite'

const cache = resolve('node_modules/.cache/frameworks')

/**
 * The pages of `examples/frameworks` as an application has them: beside the package as it is published, built by Vite for production. Made once for all browsers; gives the folder, with
 * `agent` (what a server imports), `pages` (their sources), `built` (what a browser loads) and `package` (the unpacked tarball).
 */
export async function builtPages(): Promise<{ agent: string; pages: string; built: string; package: string }> {
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, 'making-'))
  const [tarball = ''] = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', making], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .slice(-1)
  const home = join(cache, hashOf([join(making, tarball), ...globSync('examples/frameworks/**/*.{ts,tsx,vue,svelte,html}').toSorted()]))
  if (!existsSync(home)) {
    install(making, tarball)
    const pages = join(making, 'pages')
    await build({
      ...{ root: pages, configFile: join(pages, 'vite.config.ts'), logLevel: 'error' },
      build: { outDir: join(making, 'built'), emptyOutDir: true },
    })
    // Node takes no types off what stands in node_modules.
    await build({
      ...{ root: pages, configFile: false, logLevel: 'error', ssr: { external: true } },
      build: { ssr: 'agent.ts', outDir: join(making, 'server'), target: 'es2023', emptyOutDir: true },
    })
    try {
      renameSync(making, home)
    } catch {
      // Another browser was faster, and made the same.
    }
  }
  rmSync(making, { recursive: true, force: true })
  return {
    agent: join(home, 'server/agent.js'),
    pages: join(home, 'pages'),
    built: join(home, 'built'),
    package: join(home, 'node_modules/phi-core'),
  }
}

/** The pages, the unpacked package, and beside it what this repository has installed: frameworks and dependencies are the same ones. */
function install(folder: string, tarball: string): void {
  const modules = join(folder, 'node_modules')
  cpSync('examples/frameworks', join(folder, 'pages'), { recursive: true })
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
