import { mkdir } from 'node:fs/promises'
import { protectedPart, type WorkspacePolicy } from '../policy/workspace-policy.ts'
import { outside, protectedPath, systemCode } from './fs-errors.ts'
import { entryOf, type Pinned, pin, relativeTo } from './pin.ts'

/**
 * Opens the parent directory of `path`, verifying each step from the root. `create` creates missing directories. The caller closes it.
 */
export async function holdParent(policy: WorkspacePolicy, path: string, create: boolean): Promise<{ directory: Pinned; name: string }> {
  const segments = path.split('/')
  const name = segments.pop() ?? ''
  let directory = await pin(policy.root, policy.root, path)
  for (const segment of segments) {
    const child = await step(policy, directory, segment, path, create).finally(directory.close)
    directory = child
  }
  return { directory, name }
}

async function step(policy: WorkspacePolicy, directory: Pinned, segment: string, path: string, create: boolean): Promise<Pinned> {
  const target = entryOf(directory, segment)
  try {
    return await pin(policy.root, target, path)
  } catch (error) {
    if (!create || systemCode(error) !== 'ENOENT') throw error
  }
  refuseProtected(policy, directory, segment, path, 'directory')
  await mkdir(target).catch((error: unknown) => {
    // Another writer was faster, or the entry is a dangling link, which the next line detects.
    if (systemCode(error) !== 'EEXIST') throw error
  })
  return pin(policy.root, target, path).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT' ? outside(path) : error
  })
}

/** Throws `protected` if the real path of `name` in `directory` must not be changed. */
export function refuseProtected(policy: WorkspacePolicy, directory: Pinned, name: string, path: string, kind?: 'file' | 'directory'): void {
  const segment = protectedPart(policy, `${relativeTo(policy.root, directory)}/${name}`, kind)
  if (segment !== undefined) throw protectedPath(path, segment)
}
