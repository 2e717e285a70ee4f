// npm run bench peers [-- run | steady [options]]: this package beside other libraries, where the benchmark of `../shared/bench` is there. Works on
// a copy of it, with this package packed and installed as anybody would; `run` measures the first second, sizes and starts, `steady` a server.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const source = resolve('../shared/bench')
const copy = resolve('node_modules/.cache/phi-peers')

function call(command: string, args: readonly string[], cwd = copy): string {
  const { status, stdout } = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}.`)
  return stdout
}

/** Our contender, and the package it imports, into the copy. */
function addOurselves(): void {
  const [packed]: { filename: string }[] = JSON.parse(call('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', copy], '.'))
  call('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', join(copy, packed?.filename ?? '')])
  copyFileSync('test/bench/contender.mjs', join(copy, 'contenders/phi.mjs'))
}

function installPeers(): void {
  mkdirSync(copy, { recursive: true })
  cpSync(source, copy, { recursive: true, filter: (path) => !path.includes('node_modules') })
  for (const folder of ['.', ...readdirSync(join(copy, 'extras')).map((name) => join('extras', name))]) {
    if (!existsSync(join(copy, folder, 'node_modules')))
      call('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], join(copy, folder))
  }
}

if (!existsSync(source)) {
  console.warn(`SKIPPED: there is no benchmark with other libraries in ${source}.`)
} else {
  const [mode = 'run', ...options] = process.argv.slice(2)
  installPeers()
  addOurselves()
  const { status } = spawnSync(process.execPath, [`${mode}.mjs`, ...options], { cwd: copy, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
