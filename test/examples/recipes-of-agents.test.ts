import { expect, it } from 'vitest'
import { writerWithEditor } from '../../examples/recipes/agents/as-tool.ts'
import { bestOf } from '../../examples/recipes/agents/parallel-models.ts'
import { fromName, inWorker, withOptions } from '../../examples/recipes/models/env.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it("uses an agent as another agent's tool", async () => {
  const model = scripted([
    { toolCalls: [{ name: 'editor', arguments: { task: 'Read: it rains.' } }] },
    { text: 'It is short.' },
    { text: 'Rain falls.' },
  ])
  expect(await writerWithEditor(model).prompt('Write about rain.').text()).toBe('Rain falls.')
})

it('selects the better of two responses with a judge', async () => {
  const [fast, deep] = [scripted([{ text: 'Four.' }]), scripted([{ text: 'It is four.' }, { text: '1' }])]
  expect(await bestOf(fast, deep, '2 + 2?')).toBe('Four. (1)')
})

it('creates models from the environment, by name and with options', async () => {
  const key = 'sk-test-0123456789'
  expect((await inWorker({ ANTHROPIC_API_KEY: key })).config.api).toBe('anthropicMessages')
  const before = process.env
  process.env = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key }
  try {
    expect((await fromName()).config.id).toBe('gpt-5.1')
    expect(withOptions().config.id).toBe('claude-sonnet-4-6')
  } finally {
    process.env = before
  }
})
