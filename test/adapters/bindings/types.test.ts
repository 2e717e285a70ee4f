import type { Accessor } from 'solid-js'
import { get, type Readable } from 'svelte/store'
import { expectTypeOf, it } from 'vitest'
import type { ShallowRef } from 'vue'
import { z } from 'zod'
import type * as react from '../../../adapters/react/index.ts'
import type * as solid from '../../../adapters/solid/index.ts'
import type * as svelte from '../../../adapters/svelte/index.ts'
import type * as vue from '../../../adapters/vue/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent, defineTool, type InferData, type InferTools } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type ChatData, type ChatPart, createChat } from '../../../src/store.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const clock = defineTool({
  name: 'clock',
  description: 'The time.',
  parameters: z.object({ zone: z.string() }),
  execute: () => ({ now: '12:00' }),
})
const data = { progress: z.object({ done: z.number(), at: z.date() }), note: z.string() }
const agent = new Agent({ model: scripted([]), tools: [add, clock], data })
type Tools = InferTools<typeof agent>
type Data = InferData<typeof agent>
type Part = ChatPart<Tools> | undefined

/** Of each binding, what its hooks give for an agent with these tools. */
interface Given {
  react: [ReturnType<typeof react.usePart<Tools>>, ReturnType<typeof react.useAgent<Tools>>['messages'][number]['parts'][number]]
  vue: [ReturnType<typeof vue.usePart<Tools>>, ReturnType<typeof vue.useAgent<Tools>>['value']['messages'][number]['parts'][number]]
  svelte: [ReturnType<typeof svelte.usePart<Tools>>, ReturnType<typeof svelte.useAgent<Tools>>]
  solid: [
    ReturnType<typeof solid.usePart<Tools>>,
    ReturnType<ReturnType<typeof solid.useAgent<Tools>>>['messages'][number]['parts'][number],
  ]
}

it('narrows tool input and output by tool name in each binding', () => {
  expectTypeOf<Given['react'][0]>().toEqualTypeOf<Part>()
  expectTypeOf<Given['react'][1]>().toEqualTypeOf<ChatPart<Tools>>()
  expectTypeOf<Given['vue'][0]>().toEqualTypeOf<Readonly<ShallowRef<Part>>>()
  expectTypeOf<Given['vue'][1]>().toEqualTypeOf<ChatPart<Tools>>()
  expectTypeOf<Given['svelte'][0]>().toExtend<Readable<Part>>()
  expectTypeOf<Given['solid'][0]>().toEqualTypeOf<Accessor<Part>>()
  expectTypeOf<Given['solid'][1]>().toEqualTypeOf<ChatPart<Tools>>()
  const narrowed = (part: Part) => {
    if (part?.type !== 'tool') return
    expectTypeOf(part.toolName).toEqualTypeOf<'add' | 'clock'>()
    if (part.toolName === 'add') {
      expectTypeOf(part.input).toEqualTypeOf<{ a: number; b: number } | undefined>()
      expectTypeOf(part.output).toEqualTypeOf<{ sum: number } | undefined>()
    } else {
      expectTypeOf(part.input).toEqualTypeOf<{ zone: string } | undefined>()
      expectTypeOf(part.output).toEqualTypeOf<{ now: string } | undefined>()
    }
  }
  narrowed(undefined)
})

it("infers the agent's tools without a type argument", () => {
  // The hooks are not called: there is no component here.
  const call = (
    use: typeof react.usePart,
    useVue: typeof vue.usePart,
    useSvelte: typeof svelte.usePart,
    useSolid: typeof solid.usePart,
  ) => [
    expectTypeOf(use(agent, 'm', 0)).toEqualTypeOf<Part>(),
    expectTypeOf(useVue(agent, 'm', 0)).toEqualTypeOf<Readonly<ShallowRef<Part>>>(),
    expectTypeOf(useSvelte(agent, 'm', 0)).toExtend<Readable<Part>>(),
    expectTypeOf(useSolid(agent, 'm', 0)).toEqualTypeOf<Accessor<Part>>(),
  ]
  expectTypeOf(call).toBeFunction()
})

it('narrows the value of data parts by name in each binding', () => {
  expectTypeOf<Data>().toEqualTypeOf<{ progress: { done: number; at: string }; note: string }>()
  expectTypeOf<Data>().toEqualTypeOf<InferData<typeof data>>()
  const session = remoteSession({ url: 'http://localhost', sessionId: 's' })
  type Parts = readonly ChatData<Data>[]
  // Types only: hooks need a component.
  const calls = (use: { react: typeof react; vue: typeof vue; svelte: typeof svelte; solid: typeof solid }) => {
    expectTypeOf(use.react.useAgent<Tools, Data>(session).data).toEqualTypeOf<Parts>()
    expectTypeOf(use.react.useAgent(agent).data).toEqualTypeOf<Parts>()
    expectTypeOf(use.vue.useAgent<Tools, Data>(session).value.data).toEqualTypeOf<Parts>()
    expectTypeOf(use.solid.useAgent<Tools, Data>(session)().data).toEqualTypeOf<Parts>()
    expectTypeOf(get(use.svelte.useAgent<Tools, Data>(session)).data).toEqualTypeOf<Parts>()
  }
  expectTypeOf(calls).toBeFunction()
  const [part] = createChat(agent).getSnapshot().data
  if (part?.name === 'progress') expectTypeOf(part.value).toEqualTypeOf<{ done: number; at: string }>()
  else expectTypeOf(part?.value).toEqualTypeOf<string | undefined>()
  const untyped = createChat(new Agent({ model: scripted([]) })).getSnapshot().data[0]
  expectTypeOf(untyped?.value).toBeUnknown()
})

it('types selectors by the data of the agent', () => {
  const call = (use: typeof react.useAgent) => use(agent, (state) => state.data.find(({ name }) => name === 'note'))
  expectTypeOf<ReturnType<typeof call>>().toEqualTypeOf<ChatData<Data> | undefined>()
})
