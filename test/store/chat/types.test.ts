import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { remoteSession } from '../../../src/client.ts'
import { Agent, type AgentTool, defineTool, type InferTools } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type ChatMessage, type ChatPart, chatOf, createChat } from '../../../src/store.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => {
    expectTypeOf(b).toEqualTypeOf<number>()
    return { sum: a + b }
  },
})

const read = defineTool<{ path: string }>({
  name: 'read',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  execute: ({ path }) => path,
})

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: { type: 'object' },
  execute: async () => ({ content: [{ type: 'text' as const, text: 'x' }], details: { hits: 3 } }),
})

const agent = new Agent({ model: scripted([]), tools: [add, search] })
type Tools = InferTools<typeof agent>

it('types message parts by tool', () => {
  expectTypeOf<InferTools<readonly [typeof add]>>().toEqualTypeOf<{
    add: { input: { a: number; b?: number | undefined }; output: { sum: number } }
  }>()
  type Part = ReturnType<ReturnType<typeof chatOf<Tools>>['getSnapshot']>['messages'][number]['parts'][number]
  expectTypeOf<Part>().toEqualTypeOf<ChatPart<Tools>>()
  const show = (part: Part) => {
    if (part.type !== 'tool') return
    expectTypeOf(part.toolName).toEqualTypeOf<'add' | 'search'>()
    if (part.toolName === 'add') {
      expectTypeOf(part.input).toEqualTypeOf<{ a: number; b?: number | undefined } | undefined>()
      expectTypeOf(part.output).toEqualTypeOf<{ sum: number } | undefined>()
    } else expectTypeOf(part.output).toEqualTypeOf<{ hits: number } | undefined>()
  }
  show({ type: 'text', text: '' })
})

it('infers tool types from an agent, and accepts them for a session', () => {
  expectTypeOf(createChat(agent).getSnapshot().messages).toEqualTypeOf<readonly ChatMessage<ChatPart<Tools>>[]>()
  const session = remoteSession({ url: 'http://localhost', sessionId: 's' })
  expectTypeOf(chatOf<Tools>(session).getSnapshot().messages).toEqualTypeOf<readonly ChatMessage<ChatPart<Tools>>[]>()
  expectTypeOf(chatOf(session).getSnapshot().messages).toEqualTypeOf<readonly ChatMessage[]>()
})

it('types unknown tools as unknown, and allows narrower types', () => {
  const show = (part: ChatPart) => {
    if (part.type !== 'tool') return
    expectTypeOf(part.toolName).toEqualTypeOf<string>()
    expectTypeOf(part.input).toEqualTypeOf<unknown>()
    expectTypeOf(part.output).toEqualTypeOf<unknown>()
  }
  const message: (message: ChatMessage) => void = ({ parts }) => parts.forEach(show)
  createChat(agent).getSnapshot().messages.forEach(message)
  expectTypeOf(new Agent({ model: scripted([]), tools: [add, read] })).toExtend<Agent>()
  expectTypeOf(add).toExtend<AgentTool>()
})
