import { expect, it } from 'vitest'
import { runWithEdits } from '../../examples/recipes/tools/approve-with-edits.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it('lets the user edit the arguments until they match the schema', async () => {
  const call = { name: 'send_mail', arguments: { to: 'b@example.org', subject: 'Hi', body: '' } }
  const model = scripted([{ toolCalls: [call] }, { text: 'Done.' }])
  const edits = [{ to: 'nobody' }, { to: 'c@example.org' }]
  expect(await runWithEdits(model, 'Mail b.', async (args) => ({ ...args, ...edits.shift() }))).toBe('Done.')
  const told = JSON.stringify(model.provider.requests[1]?.messages)
  expect([edits, told.includes('sent \\"Hi\\" to c@example.org'), told.includes('The user changed the arguments')]).toEqual([
    [],
    true,
    true,
  ])
})
