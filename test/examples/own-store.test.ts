import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sqliteSessionStore } from '../../examples/recipes/sessions/own-store.ts'
import { Agent } from '../../src/agent/agent.ts'
import { resumeAgent } from '../../src/agent/resume-agent.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

// own-store-suite.test.ts runs the whole suite on this store, in `npm run test:all`.
it('resumes a session from the file in another process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'phi-own-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'sessions.db')
  const agent = new Agent({ model: scripted([{ text: 'Honey.' }]), session: sqliteSessionStore(path), sessionId: 's1' })
  await agent.prompt('What do bees make?').text()
  await agent.close()
  const resumed = await resumeAgent(sqliteSessionStore(path), 's1', { model: scripted([{ text: 'From nectar.' }]) })
  expect(await resumed.prompt('Of what?').text()).toBe('From nectar.')
  expect(resumed.messages).toHaveLength(4)
})
