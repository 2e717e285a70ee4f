import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { SubAgentTool } from '../../../../src/agents.ts'
import { resumeAgent, textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { quickProgram } from '../../../support/quick-program.ts'

const directory = mkdtempSync(join(tmpdir(), 'phi-background-'))
const program = quickProgram(fileURLToPath(new URL('background-agent.ts', import.meta.url)))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

it('reports an unknown outcome after a crash during a sub-agent', async () => {
  const sessions = join(directory, 'sessions')
  const process = spawn(globalThis.process.execPath, [program.path, sessions, 's1'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(process.stdout, 'data')
  process.kill('SIGKILL')
  await once(process, 'close')

  const store = fileSessionStore(sessions)
  const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model: scripted([]), background: true })
  const agent = await resumeAgent(store, 's1', { model: scripted([{ text: 'I shall look.' }]), tools: [helper] })
  const { status, text, messages } = await agent.continueLoop().result
  expect([status, text]).toEqual(['completed', 'I shall look.'])
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  const [told] = messages
  expect(told?.role === 'user' && textOf(told.content)).toMatch(/"helper-1" was cut off: .*The outcome is unknown/)
  await agent.close()

  // Stored: once it was told, it is not told again. The other session names the call that began it.
  const again = await resumeAgent(store, 's1', { model: scripted([{ text: 'ok' }]), tools: [helper] })
  expect((await again.prompt('And now?').result).messages).toHaveLength(2)
  await again.close()
  const [other = ''] = (await store.listIds()).filter((id) => id !== 's1')
  expect(await store.load(other)).toMatchObject({ loops: [{ status: 'running' }] })
  expect(JSON.stringify(await store.load(other))).toContain('"toolName":"helper"')
})
