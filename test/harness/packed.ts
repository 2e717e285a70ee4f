/** The package as it is published, and a stranger's project that has it installed. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assertFreshBuild } from './fresh-build.ts'

/** What `npm pack` wrote, and what is in it. */
export interface Packed {
  tarball: string
  files: string[]
  /** Bytes. */
  size: number
}

/** Runs a program; returns what it printed. A failure shows it. */
export function run(command: string, flags: readonly string[], cwd = process.cwd()): string {
  try {
    return execFileSync(command, flags, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // how execFileSync fails
    throw new Error(`${command} ${flags.join(' ')}\n${stdout}\n${stderr}`)
  }
}

/** Packs what is in `dist` into `folder`. */
export function pack(folder: string): Packed {
  assertFreshBuild()
  const [packed]: { filename: string; size: number; files: { path: string }[] }[] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]),
  )
  return { tarball: join(folder, packed?.filename ?? ''), files: packed?.files.map(({ path }) => path) ?? [], size: packed?.size ?? 0 }
}

/** Makes an empty project in `folder` and installs the package there, with no package beside it but those named. */
export function installIn(folder: string, { tarball }: Packed, extra: readonly string[] = []): string {
  const project = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
  const quietly = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', ['install', tarball, ...extra, ...quietly], project)
  return project
}
