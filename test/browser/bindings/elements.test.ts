import { expect, it, onTestFinished, vi } from 'vitest'
import { defineElements, type PhiChat } from '../../../adapters/elements/index.ts'
import { Agent, defineTool } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { chatOf } from '../../../src/store.ts'
import { patient } from '../../support/patience.ts'

const calledWith: unknown[] = []
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object' },
  needsApproval: true,
  execute: (args) => {
    calledWith.push(args)
    return { sum: '<i>3</i>' }
  },
})

type Shown = HTMLElement & PhiChat

/** A chat in the page with an agent that says `steps`, and what is in its shadow tree. */
function open(steps: readonly ScriptedStep[], inside = '', attributes = ''): { chat: Shown; tree: ShadowRoot; agent: Agent } {
  const agent = new Agent({ model: scripted(steps), tools: [add] })
  document.body.innerHTML = `<phi-chat ${attributes}>${inside}</phi-chat>`
  defineElements()
  const chat = document.querySelector<Shown>('phi-chat')
  if (chat?.shadowRoot == null) throw new Error('There is no element.')
  chat.agent = agent
  onTestFinished(() => document.body.replaceChildren())
  return { chat, tree: chat.shadowRoot, agent }
}

const soon = (check: () => void) => vi.waitFor(check, patient)

function say(words: string, root: ParentNode): void {
  const input = root.querySelector('textarea')
  if (input === null) throw new Error('There is nowhere to write.')
  input.value = words
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
}

it('renders messages and call results as plain text', async () => {
  const code = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>'
  const { tree, chat } = open([{ thinking: code, text: code, toolCalls: [{ name: 'add', arguments: { code } }] }, { text: 'Three.' }])
  const { title } = document
  say(code, tree)
  await soon(() => expect(tree.querySelector('phi-approval button')).not.toBeNull())
  tree.querySelector<HTMLButtonElement>('[part=allow]')?.click()
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(tree.querySelectorAll('img, script, i')).toHaveLength(0)
  expect([...tree.querySelectorAll('[part=text]')].map(({ textContent }) => textContent)).toEqual([code, code, 'Three.'])
  expect(tree.querySelector('[part=output]')?.textContent).toContain('<i>3</i>')
  expect(document.title).toBe(title)
  expect(tree.activeElement?.localName).toBe('textarea')
})

it('approves a call with edited arguments, and keeps invalid JSON in the form', async () => {
  const { tree, chat, agent } = open([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'Done.' }])
  say('Add.', tree)
  const click = (part: string) => tree.querySelector<HTMLButtonElement>(`phi-approval [part=${part}]`)?.click()
  const field = () => tree.querySelector<HTMLTextAreaElement>('phi-approval textarea')
  await soon(() => expect(tree.querySelector('[part=edit]')).not.toBeNull())
  click('edit')
  expect([tree.activeElement, field()?.ariaLabel]).toEqual([field(), 'Arguments'])
  expect(JSON.parse(field()?.value ?? '')).toEqual({ a: 1, b: 2 })
  for (const wrong of ['{ "a": ', '[1]']) {
    Object.assign(field() ?? {}, { value: wrong })
    click('allow')
    expect([field()?.validity.valid, agent.pendingApprovals().length]).toEqual([false, 1])
  }
  const input = field()
  if (input !== null) input.value = '{ "a": 40, "b": 2 }'
  input?.dispatchEvent(new InputEvent('input'))
  expect(input?.validity.valid).toBe(true)
  click('allow')
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(calledWith.at(-1)).toEqual({ a: 40, b: 2 })
  expect(tree.querySelector('[part=write]')).toBe(tree.activeElement)
})

it('approves a call unchanged after a second click on Edit', async () => {
  const { tree, chat } = open([{ toolCalls: [{ name: 'add', arguments: { a: 1 } }] }, { text: 'Done.' }])
  say('Add.', tree)
  const click = (part: string) => tree.querySelector<HTMLButtonElement>(`phi-approval [part=${part}]`)?.click()
  await soon(() => expect(tree.querySelector('[part=edit]')).not.toBeNull())
  click('edit')
  Object.assign(tree.querySelector('phi-approval textarea') ?? {}, { value: '{ "a": 2 }' })
  click('edit')
  expect([tree.querySelector('phi-approval textarea'), tree.querySelector('[part=edit]')?.ariaExpanded]).toEqual([null, 'false'])
  click('allow')
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(calledWith.at(-1)).toEqual({ a: 1 })
})

it('keeps the draft until it is sent and leaves Enter to an input method', async () => {
  const { tree, chat } = open([{ text: 'Hello.' }])
  const input = tree.querySelector('textarea')
  const composing = new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })
  if (input !== null) input.value = 'あ'
  input?.dispatchEvent(composing)
  expect([composing.defaultPrevented, chat.getAttribute('status')]).toEqual([false, 'idle'])
  say('Hi.', tree)
  expect(input?.value).toBe('Hi.')
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  await soon(() => expect(input?.value).toBe(''))
})

it('updates one text node per delta and leaves finished messages untouched', async () => {
  const { tree, chat } = open([{ text: 'One.' }, { text: ['Two', ' and', ' three.'] }])
  say('Count.', tree)
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  const before = [...tree.querySelectorAll('li')]
  const changed: Node[] = []
  const observer = new MutationObserver((records) => changed.push(...records.map(({ target }) => target)))
  for (const item of before) observer.observe(item, { childList: true, subtree: true, characterData: true, attributes: true })
  say('On.', tree)
  await soon(() => expect(tree.textContent).toContain('Two and three.'))
  observer.disconnect()
  expect([changed, [...tree.querySelectorAll('li')].slice(0, 2)]).toEqual([[], before])
})

it('stops the run even if a growing response moves the button away', async () => {
  const { tree, chat } = open([{ text: 'on and '.repeat(5000), delayMs: 50 }])
  say('Tell me.', tree)
  await soon(() => expect(chat.getAttribute('status')).toBe('running'))
  const stop = tree.querySelector('[part=stop]')
  const pointer = (type: string, target: EventTarget | null, clientY: number) =>
    target?.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: 40, clientY, bubbles: true, composed: true }))
  // Who goes elsewhere with it has thought better of it.
  pointer('pointerdown', stop, 10)
  pointer('pointerup', document.body, 200)
  pointer('pointerdown', stop, 10)
  pointer('pointercancel', document.body, 10)
  pointer('pointerup', document.body, 10)
  expect(chat.getAttribute('status')).toBe('running')
  pointer('pointerdown', stop, 10)
  pointer('pointerup', document.body, 12)
  await soon(() => expect(chat.getAttribute('status')).toBe('aborted'))
})

it('accepts custom texts and a custom composer, moves in the DOM and switches agents', async () => {
  const { chat, tree, agent } = open([{ text: 'Hallo.' }], '<phi-composer slot="composer"></phi-composer>')
  chat.words = { send: 'Senden', you: 'Du' }
  expect(chat.querySelector('[part=send]')?.textContent).toBe('Senden')
  say('Hi.', chat)
  await soon(() => expect(tree.querySelector('[part=author]')?.textContent).toBe('Du'))
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  document.body.append(document.createElement('section'))
  document.querySelector('section')?.append(chat)
  expect(tree.querySelectorAll('li')).toHaveLength(2)
  chat.agent = new Agent({ model: scripted([]) })
  expect(tree.querySelectorAll('li')).toHaveLength(0)
  chat.agent = agent
  await soon(() => expect(tree.querySelectorAll('li')).toHaveLength(2))
})

it('shows streamed text in whole words with the attribute smooth, and keeps its chat when it moves', async () => {
  const text = ['One tw', 'o three fo', 'ur fi', 've.']
  const { chat, tree, agent } = open(
    [
      { text, delayMs: 40 },
      { text, delayMs: 40 },
    ],
    '',
    'smooth="word"',
  )
  const seen = new Set<string>()
  const look = () => seen.add(tree.querySelector('[part~=message-assistant] [part=text]')?.textContent ?? '')
  const observer = new MutationObserver(look)
  observer.observe(tree, { childList: true, subtree: true, characterData: true })
  say('Count.', tree)
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(tree.textContent).toContain('One two three four five.')
  expect([...seen].filter((each) => !'One two three four five.'.startsWith(each) || /[a-z]$/.test(each))).toEqual([])

  const before: unknown = Reflect.get(chat, 'chat')
  document.body.append(document.createElement('section'))
  document.querySelector('section')?.append(chat)
  expect(Reflect.get(chat, 'chat')).toBe(before)
  chat.removeAttribute('smooth')
  expect(Reflect.get(chat, 'chat')).toBe(chatOf(agent))
  expect(tree.querySelectorAll('li')).toHaveLength(2)
  observer.disconnect()
})

it('dispatches phi-data for each new or changed data part', async () => {
  const values: unknown[] = []
  const { tree, chat, agent } = open([{ toolCalls: [{ name: 'count', arguments: {} }] }, { text: 'Done.' }])
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object' },
    execute: async (_args, { data }) => {
      data('count', 1, { id: 'c' })
      await soon(() => expect(values).toEqual([1]))
      data('count', 2, { id: 'c' })
    },
  })
  agent.setTools([count])
  document.body.addEventListener('phi-data', (event) => event instanceof CustomEvent && values.push(event.detail.value))
  say('Count.', tree)
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(values).toEqual([1, 2])
})

it('dispatches phi-data for an extension message and shows no empty message for it', async () => {
  const parts: unknown[] = []
  const { tree, chat, agent } = open([{ text: 'Done.' }])
  chat.addEventListener('phi-data', (event) => event instanceof CustomEvent && parts.push(event.detail))
  await agent.prompt([
    { role: 'user', content: 'Go.' },
    { role: 'extension', id: 'n', kind: 'note', data: { text: 'Ann joined' } },
  ]).result
  await soon(() => expect(chat.getAttribute('status')).toBe('completed'))
  expect(parts).toEqual([{ name: 'note', dataId: 'n', value: { text: 'Ann joined' } }])
  expect(tree.querySelectorAll('li')).toHaveLength(2)
})
