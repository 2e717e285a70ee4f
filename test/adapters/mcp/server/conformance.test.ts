import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quickProgram } from '../../../support/quick-program.ts'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const program = join(manifest, '..', 'dist', 'index.js')
const listed = execFileSync(process.execPath, [program, 'list', '--server'], { encoding: 'utf8' })
const scenarios = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name)

/** What these ask for is none that this server has: why. */
const notOurs: Record<string, string> = {
  'completion-complete': 'nothing here has arguments that could be completed',
  'tools-call-sampling': 'agents of this server have models of their own',
  'resources-read-text': 'asks for an address of its own; resources are skills',
  'resources-read-binary': 'as resources-read-text',
  'resources-templates-read': 'as resources-read-text',
  'resources-subscribe': 'skills do not change',
  'resources-unsubscribe': 'as resources-subscribe',
  'prompts-get-with-args': 'wants arguments of its own put into the text; a skill takes a task',
  'prompts-get-embedded-resource': 'a skill is text',
  'prompts-get-with-image': 'a skill is text',
}

/** The scenarios play a client, and judge what a server of `serveMcp` answers. */
describe('official conformance scenarios for MCP servers', () => {
  const host = quickProgram(join(import.meta.dirname, 'conformance-server.ts'))
  let server: ChildProcess | undefined
  let url = ''
  beforeAll(async () => {
    const child = spawn(process.execPath, [host.path], { stdio: ['ignore', 'pipe', 'inherit'] })
    server = child
    for await (const line of createInterface({ input: child.stdout })) {
      url = line
      break
    }
  })
  afterAll(() => void server?.kill())

  function run(scenario: string): Promise<{ code: number; said: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, [program, 'server', '--url', url, '--scenario', scenario], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), said: stdout + stderr }),
      )
    })
  }

  it('excludes only scenarios that exist', () => expect(Object.keys(notOurs).filter((name) => !scenarios.includes(name))).toEqual([]))

  it.each(scenarios.filter((name) => !Object.hasOwn(notOurs, name)))('%s', async (scenario) => {
    const { code, said } = await run(scenario)
    expect(code === 0 ? '' : said).toBe('')
  })
})
