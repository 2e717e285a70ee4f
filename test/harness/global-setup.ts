import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startServer } from './server.ts'

/**
 * Starts the fixture server for one vitest project and hands its address to the tests. The programs of Node that tests start, some of them
 * dozens of times, find here what was compiled before, and begin in a third of the time.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const compiled = mkdtempSync(join(tmpdir(), 'phi-compiled-'))
  process.env.NODE_COMPILE_CACHE = compiled
  const server = await startServer()
  project.provide('baseUrl', server.url)
  return async () => {
    await server.close()
    rmSync(compiled, { recursive: true, force: true, maxRetries: 5 })
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    baseUrl: string
  }
}
