import type { TestProject } from 'vitest/node'
import { startServer } from './server.ts'

/** Starts the fixture server for one vitest project and hands its address to the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  project.provide('baseUrl', server.url)
  return server.close
}

declare module 'vitest' {
  export interface ProvidedContext {
    baseUrl: string
  }
}
