import { type ChildProcess, fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { Job, TestFileResult } from './runner.ts'

type Answer = { ready: true } | { results: TestFileResult[] } | { error: string }

/** What became of a job. `late`: it did not end in time, as a loop without end does; its processes are gone. */
export type Outcome = { type: 'done'; results: TestFileResult[] } | { type: 'late' } | { type: 'broken'; message: string }

// The tests of the sandbox attack it. Where a mutant has opened it, they must meet somebody who may do nothing here.
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534, env: { ...process.env, HOME: tmpdir() } } : {}

/** The process that runs tests, started when it is needed and again after it has ended. One job at a time. */
export class Worker {
  #child: ChildProcess | undefined

  async run(job: Job, timeoutMs: number): Promise<Outcome> {
    if (this.#child === undefined) {
      // A group of its own, so that whatever it started ends with it.
      this.#child = fork(new URL('./runner.ts', import.meta.url), {
        ...unprivileged,
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      const ready = await this.#answer(60_000)
      if (ready === undefined || !('ready' in ready)) throw new Error('vitest does not start; run the tests once to see why')
    }
    this.#child.send(job)
    const answer = await this.#answer(timeoutMs)
    if (answer === undefined) {
      this.end()
      return { type: 'late' }
    }
    if ('results' in answer) return { type: 'done', results: answer.results }
    this.end()
    return { type: 'broken', message: 'error' in answer ? answer.error : 'the test process answered out of turn' }
  }

  end(): void {
    const { pid } = this.#child ?? {}
    this.#child = undefined
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }

  /** Undefined: none came in time. */
  #answer(timeoutMs: number): Promise<Answer | undefined> {
    const child = this.#child
    return new Promise((resolve) => {
      const settle = (answer: Answer | undefined): void => {
        clearTimeout(timer)
        child?.removeAllListeners()
        resolve(answer)
      }
      const timer = setTimeout(() => settle(undefined), timeoutMs)
      child?.once('message', (answer: Answer) => settle(answer))
      child?.once('exit', (code) => settle({ error: `the test process ended with ${code}` }))
    })
  }
}
