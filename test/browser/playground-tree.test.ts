import { h, render } from 'preact'
import { expect, it, vi } from 'vitest'
import { LoopTree } from '../../playground/src/tree/loop-tree.tsx'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

/** A stored conversation of so many loops. */
async function conversationOf(loops: number) {
  const store = memorySessionStore()
  const agent = new Agent({ model: scripted(() => ({ text: 'Yes.' })), session: store, sessionId: 's' })
  for (let asked = 0; asked < loops; asked++) await agent.prompt(`Question ${asked + 1}`).result
  await agent.close()
  return store.load('s')
}

it('renders the newest loops of a long tree and older ones on demand', async () => {
  const place = document.createElement('div')
  const record = await conversationOf(450)
  const nothing = () => undefined
  const shown = () => [...place.querySelectorAll('[role=treeitem] .loop-label')].map((label) => label.textContent)
  const show = (selected?: string) =>
    render(h(LoopTree, { record, current: undefined, selected, onSelect: nothing, onOpen: nothing }), place)
  const more = () => place.querySelector<HTMLButtonElement>('button.earlier')

  show()
  expect([shown().length, shown().at(-1), more()?.textContent]).toEqual([40, 'Question 450', '410 earlier runs'])
  more()?.click()
  await vi.waitFor(() => expect([shown().length, more()?.textContent]).toEqual([240, '210 earlier runs']), patient)
  show(record.loops[9]?.loopId)
  expect([shown()[0], shown().at(-1)]).toEqual(['Question 10', 'Question 450'])
})
