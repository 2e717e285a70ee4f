import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { quickProgram } from '../support/quick-program.ts'
import { isSoak } from '../support/runs.ts'

const check = fileURLToPath(new URL('../../../shared/conformance/check.mjs', import.meta.url))
const adapter = quickProgram(fileURLToPath(new URL('./adapter.mjs', import.meta.url)))
const isThere = existsSync(check)
if (!isThere) console.warn('SKIPPED: recorded provider streams, because ../shared/conformance is absent')

/** Runs the conformance checker; resolves with its failures and its summary. */
async function checked(protocol: string, options: string): Promise<string[]> {
  const args = [check, adapter.path, '--protocol', protocol, ...(options === '' ? [] : ['--opts', options])]
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((failed: { stdout: string }) => failed)
  return stdout.trim().split('\n')
}

const protocols = [
  'anthropic_messages',
  'openai_completions',
  'openai_responses',
  'azure_openai_responses',
  'google_generative_ai',
  'google_vertex',
  'bedrock_converse_stream',
]

/** As it was recorded, and the hardest; the one between them in `npm run soak`. */
const framings = ['', ...(isSoak ? ['r7'] : []), 'r3+crlf+bom+ping']

describe.skipIf(!isThere).each(protocols)('recorded streams and loops of %s', (protocol) => {
  it.each(framings)('decodes streams that are fragmented and framed as "%s"', async (options) => {
    const lines = await checked(protocol, options)
    const summary: { pass: number; fail: number; sequences: { pass: number; fail: number } } = JSON.parse(lines.at(-1) ?? '{}')
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([])
    expect(summary).toMatchObject({ fail: 0, sequences: { fail: 0 } })
    expect(summary.pass).toBeGreaterThanOrEqual(4)
  })
})

describe.skipIf(!isThere)('recorded binary streams', () => {
  it('fails on messages with one flipped checksum bit', async () => {
    const lines = await checked('bedrock_converse_stream', 'flipcrc')
    const summary: { pass: number; fail: number; byCheck: { error: number } } = JSON.parse(lines.at(-1) ?? '{}')
    // The checker expects the answers; the few that pass are recordings of errors.
    expect(summary.byCheck.error).toBe(summary.fail)
    expect(summary.fail).toBeGreaterThan(summary.pass)
  })
})
