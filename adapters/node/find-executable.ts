import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** The real path of `name` in the absolute directories of `PATH`, or undefined. */
export function findExecutable(name: string): string | undefined {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    // A relative directory in PATH would let the current directory choose what runs.
    if (!isAbsolute(directory)) continue
    const path = join(directory, file)
    if (isExecutableFile(path)) return realpathSync(path)
  }
  return undefined
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
