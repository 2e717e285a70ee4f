import { expect, it } from 'vitest'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type JournalRecord, queuedInputs } from '../../src/session.ts'

/** A model that says its text when it is told to. */
function told(): { model: ReturnType<typeof scripted>; isAsked: Promise<void>; answer: () => void } {
  let asked = (): void => undefined
  let answer = (): void => undefined
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const said = new Promise<void>((resolve) => {
    answer = resolve
  })
  const gate = () => {
    asked()
    return said
  }
  return { model: scripted(() => ({ text: 'Yes.' }), { gate }), isAsked, answer }
}

it('records queued input in loop order before the receipt is stored', async () => {
  const store = memorySessionStore()
  const { model, isAsked, answer } = told()
  const agent = new Agent({ model, session: store, sessionId: 's' })
  const run = agent.prompt('Go.')
  // Before the loop has begun.
  const early = run.followUp('First.')
  const late = isAsked.then(() => run.steer('Second.'))
  await Promise.all([early.stored, late.then(({ stored }) => stored)])
  const { records } = await store.tail('s')
  expect(records.map(({ entry }) => entry.type)).toEqual(['sessionStart', 'loopStart', 'queued', 'turnStart', 'input', 'queued'])
  expect([...queuedInputs(records).values()].map(({ kind, status }) => [kind, status])).toEqual([
    ['followUp', 'queued'],
    ['steer', 'queued'],
  ])
  const taken = run.followUp('Third.')
  taken.withdraw()
  await taken.stored
  answer()
  expect((await run.result).status).toBe('completed')
  const inputs = [...queuedInputs((await store.tail('s')).records).values()]
  expect(inputs.map(({ status }) => status)).toEqual(['delivered', 'delivered', 'returned'])
})

it('settles receipt.stored without a journal and ends the run if a write fails', async () => {
  const plain = new Agent({ model: told().model }).prompt('Go.')
  await plain.steer('More.').stored
  plain.abort()
  await plain.result
  const append = async ({ entry }: JournalRecord) => {
    if (entry.type === 'queued') throw new Error('The disk is full.')
  }
  const run = new Agent({ model: told().model, journal: { append } }).prompt('Go.')
  await expect(run.steer('More.').stored).rejects.toThrow('disk is full')
  expect((await run.result).error?.code).toBe('journal')
})
