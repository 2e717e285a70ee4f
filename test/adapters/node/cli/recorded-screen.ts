import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import type { Terminal } from './terminal.ts'

/** Without what differs from run to run: times, places, ids. */
const steady = (text: string): string =>
  text
    .replace(/\S*\/phi-cli-\w+/g, '/tmp/project')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'session-id')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '2026-01-01 00:00')
    .replace(/\b\d+(\.\d+)?m?s\b/g, '1s')
    .replace(/\b\d+(\.\d+)?k? tokens/g, '9 tokens')
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠋')

/**
 * The screens of a terminal, step by step, beside those in a file that a person reads in the diff. `PHI_RECORD=1` writes the file anew; look at what has changed.
 */
export class RecordedScreens {
  readonly #path: string
  readonly #rows: number
  readonly #steps: string[] = []

  constructor(path: string, rows: number) {
    this.#path = path
    this.#rows = rows
  }

  /** Records what is seen now: the last rows, as many as the terminal has. */
  step(title: string, { screen }: Terminal): void {
    const rows = steady(screen.text).split('\n').slice(-this.#rows)
    this.#steps.push(`== ${title}\n${rows.map((row) => row.trimEnd()).join('\n')}\n`)
  }

  compare(): void {
    const text = this.#steps.join('\n')
    if (process.env.PHI_RECORD === '1' || !existsSync(this.#path)) {
      mkdirSync(dirname(this.#path), { recursive: true })
      writeFileSync(this.#path, text)
    }
    expect(text).toBe(readFileSync(this.#path, 'utf8'))
  }
}
