import { mkdir } from 'node:fs/promises'
import { protectedSegment } from '../protected-names.ts'
import { outside, protectedPath, systemCode } from './fs-errors.ts'
import { entryOf, type Pinned, pin, relativeTo } from './pin.ts'

/**
 * Holds the directory that `path` lies in, going down from the root one verified step at a time; `create` makes what is missing.
 * The caller closes it.
 */
export async function holdParent(realRoot: string, path: string, create: boolean): Promise<{ directory: Pinned; name: string }> {
  const segments = path.split('/')
  const name = segments.pop() ?? ''
  let directory = await pin(realRoot, realRoot, path)
  for (const segment of segments) {
    const child = await step(realRoot, directory, segment, path, create).finally(directory.close)
    directory = child
  }
  return { directory, name }
}

async function step(realRoot: string, directory: Pinned, segment: string, path: string, create: boolean): Promise<Pinned> {
  const target = entryOf(directory, segment)
  try {
    return await pin(realRoot, target, path)
  } catch (error) {
    if (!create || systemCode(error) !== 'ENOENT') throw error
  }
  refuseProtected(realRoot, directory, segment, path)
  await mkdir(target).catch((error: unknown) => {
    // Missing, yet there: either another writer was faster, or it is a link to nothing; the next line tells.
    if (systemCode(error) !== 'EEXIST') throw error
  })
  return pin(realRoot, target, path).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT' ? outside(path) : error
  })
}

/** Throws `protected` where the real place of `name` in `directory` is one that must not be changed. */
export function refuseProtected(realRoot: string, directory: Pinned, name: string, path: string): void {
  const segment = protectedSegment(`${relativeTo(realRoot, directory)}/${name}`)
  if (segment !== undefined) throw protectedPath(path, segment)
}
