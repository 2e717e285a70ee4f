/**
 * Finds a Chromium for tests, in this order: `$CHROMIUM_PATH`, the one Playwright downloaded, one installed on the machine, the one that
 * comes with the npm package `@sparticuz/chromium` (Linux x64; unpacked once into node_modules/.cache). `from` says which it was.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright'

export interface FoundChromium {
  /** Which of the four places it came from, for people. */
  from: string
  launchOptions: { executablePath: string; env: Record<string, string>; args: string[] }
}

const commandNames = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const macApplications = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

export async function findChromium(): Promise<FoundChromium> {
  const wanted = process.env.CHROMIUM_PATH
  if (wanted) {
    if (!existsSync(wanted)) throw new Error(`CHROMIUM_PATH=${wanted} does not exist. Unset it, or point it at a Chromium.`)
    return found('CHROMIUM_PATH', wanted)
  }
  const downloaded = chromium.executablePath()
  if (downloaded && existsSync(downloaded)) return found("Playwright's download", downloaded)
  const installed = installedPlaces().find((path) => existsSync(path))
  if (installed) return found('this machine', installed)
  const packaged = await unpackFromNpm()
  if (packaged) return found('npm package @sparticuz/chromium', packaged.path, packaged.env)
  throw new Error('No Chromium found. Set CHROMIUM_PATH, run `npx playwright install chromium`, or `apt-get install chromium`.')
}

function found(from: string, executablePath: string, extraEnv: Record<string, string> = {}): FoundChromium {
  // Without a locale it takes names of files for ASCII.
  const env: Record<string, string> = { LANG: 'C.UTF-8' }
  for (const [key, value] of Object.entries(process.env)) if (value !== undefined) env[key] = value
  // No name but localhost resolves: tests stay offline, and a distribution's Chromium cannot call home.
  const args = ['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost']
  return { from, launchOptions: { executablePath, env: { ...env, ...extraEnv }, args } }
}

function installedPlaces(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return [...folders.flatMap((folder) => commandNames.map((name) => join(folder, name))), ...macApplications]
}

async function unpackFromNpm(): Promise<{ path: string; env: Record<string, string> } | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const entry = packageEntry('@sparticuz/chromium')
  if (!entry) return undefined
  const root = packageRoot(entry)
  const { version }: { version: string } = createRequire(entry)(join(root, 'package.json'))
  const folder = resolve('node_modules/.cache', `chromium-${version}`)
  const path = join(folder, 'chromium')
  if (!existsSync(path)) await inflateInto(folder, entry, root)
  const lacksLibraries = execFileSync('ldd', [path], { encoding: 'utf8' }).includes('not found')
  return { path, env: lacksLibraries ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_PATH: join(folder, 'fonts') } : {} }
}

async function inflateInto(folder: string, entry: string, root: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  const { inflate }: { inflate: (file: string) => Promise<string> } = await import(pathToFileURL(entry).href)
  const before = process.env.TMPDIR
  process.env.TMPDIR = unfinished // inflate() always writes to the temporary directory
  try {
    for (const file of ['al2023.tar.br', 'fonts.tar.br', 'swiftshader.tar.br', 'chromium.br']) await inflate(join(root, 'bin', file))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  try {
    renameSync(unfinished, folder)
  } catch {
    rmSync(unfinished, { recursive: true, force: true }) // another process was faster; its copy is as good
  }
}

function packageEntry(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}

function packageRoot(entry: string): string {
  let folder = dirname(entry)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}
