import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptHookOptions, scriptHooks } from '../../../../adapters/node/index.ts'
import { Agent, defineTool, type JsonObject, type JsonValue, textOf } from '../../../../src/index.ts'
import type { LoopHooks } from '../../../../src/loop.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { temporaryRoot } from '../temporary.ts'

type Scripts = Record<string, string>

/** A root with these files, and hooks made of them. */
export function hooksOf(files: Scripts, scripts: ScriptHookOptions['scripts'], options: Partial<ScriptHookOptions> = {}) {
  const { root, outside } = temporaryRoot()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return { root, outside, hooks: scriptHooks({ root, scripts, ...options }) }
}

export const tool = (ran: string[]) =>
  defineTool<{ path: string }>({
    name: 'remove',
    description: 'Removes.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: ({ path }, { update }) => {
      update({ content: [{ type: 'text', text: 'half' }] })
      ran.push(path)
      return `removed ${path}`
    },
  })

/** A run with one call of a tool under these hooks. */
export async function played(hooks: LoopHooks, args: JsonObject = { path: 'a' }, signal?: AbortSignal) {
  const ran: string[] = []
  const logged: JsonValue[] = []
  const model = scripted([{ toolCalls: [{ name: 'remove', arguments: args }] }, { text: 'Done.' }])
  const agent = new Agent({ model, tools: [tool(ran)], hooks, logger: { warn: (event, fields) => logged.push([event, fields]) } })
  const run = agent.prompt('Go.', signal === undefined ? {} : { signal })
  const types: string[] = []
  run.subscribe(({ type }) => types.push(type))
  const result = await run.result
  const answers = agent.messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
  return { ran, logged: JSON.stringify(logged), result, answers, types }
}

export const beforeTool = (script: string, options?: Partial<ScriptHookOptions>, name = 'h.sh') =>
  hooksOf({ [name]: script }, { beforeToolExecution: name }, options)
