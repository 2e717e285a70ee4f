import type { Accessor } from 'solid-js'
import type { Readable } from 'svelte/store'
import { expectTypeOf, it } from 'vitest'
import type { ShallowRef } from 'vue'
import { z } from 'zod'
import type * as react from '../../../adapters/react/index.ts'
import type * as solid from '../../../adapters/solid/index.ts'
import type * as svelte from '../../../adapters/svelte/index.ts'
import type * as vue from '../../../adapters/vue/index.ts'
import { Agent, defineTool, type InferTools } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { ChatPart } from '../../../src/store.ts'

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
const agent = new Agent({ model: scripted([]), tools: [add, clock] })
type Tools = InferTools<typeof agent>
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

it('infers the tools of an agent without a type argument', () => {
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
