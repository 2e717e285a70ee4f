/** In each test file, before it imports anything: answers the questions that `switchable.ts` writes into the sources. */
import { afterAll, inject } from 'vitest'

const active = inject('mutant')
const hits: Record<string, Set<number>> = {}

globalThis.phiMutants = {
  of(file) {
    if (active !== null) {
      const mine = active.file === file ? active.index : -1
      return (index) => index === mine
    }
    const reached = new Set<number>()
    hits[file] = reached
    return (index) => {
      reached.add(index)
      return false
    }
  },
}

if (active === null)
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern, and takes nothing else in its place.
  afterAll(({}, suite) => {
    suite.meta.mutants = Object.fromEntries(Object.entries(hits).map(([file, reached]) => [file, [...reached]]))
  })

declare global {
  var phiMutants: { of(file: string): (index: number) => boolean } | undefined
}

declare module 'vitest' {
  interface ProvidedContext {
    /** What is switched on in this run; null where it is noted what each test file reaches. */
    mutant: { file: string; index: number } | null
  }
  interface TaskMeta {
    mutants?: Record<string, number[]>
  }
}
