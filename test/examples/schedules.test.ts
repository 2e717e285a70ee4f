import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startServer } from '../../examples/recipes/servers/schedules.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

it('prompts once a day with schedules.ts despite a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'phi-schedules-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (let at = 0; at < 2; at++) {
    const { fetch: ask, end } = await startServer(
      directory,
      scripted(() => ({ text: 'Nothing.' })),
    )
    await vi.waitFor(async () => {
      const { messages } = await (await ask(new Request('http://localhost/sessions/report/history'))).json()
      expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
    }, patient)
    const { schedules } = await (await ask(new Request('http://localhost/sessions/report/schedules'))).json()
    expect(schedules).toHaveLength(1)
    await end()
  }
})
