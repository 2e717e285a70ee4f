import { ToolError } from '../../contract/errors.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { text, textOf } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, BackgroundTasks, BackgroundView, ToolContext } from '../../types/tool/tool.ts'

/** Names of the tools with which a model controls its background tasks. */
const names = { status: 'background_status', steer: 'background_steer', stop: 'background_stop' } as const

/** Maximum characters of a task's latest text that the model gets, from the end. */
const shownOfEach = 2000

const id = { type: 'string', description: 'The id, as the call that began it gave it.' }

function control(
  name: string,
  description: string,
  parameters: JsonSchema,
  act: (tasks: BackgroundTasks, args: Given) => string,
): AgentTool {
  const execute = async (args: Given, ctx: ToolContext): Promise<ToolResult> => ({ content: [text(act(await tasksOf(ctx), args))] })
  return { name, label: name.replace('_', ' '), description, parameters, execute }
}

/** Arguments from the model, validated by the schema. */
interface Given {
  readonly id?: unknown
  readonly message?: unknown
}

async function tasksOf(ctx: ToolContext): Promise<BackgroundTasks> {
  if (ctx.background === undefined) throw new ToolError('failed', 'Nothing runs in the background outside of a run.')
  return ctx.background()
}

/** Offered together with any background tool; the same objects everywhere. */
export const backgroundTools: readonly AgentTool[] = [
  control(
    names.status,
    'Says what runs in the background, or has ended, and what it has said so far. Reports come by themselves: no need to ask again and again.',
    { type: 'object', properties: { id: { ...id, description: 'The id of one. Default: all of this run.' } } },
    (tasks, args) => statusOf(tasks.list(), args.id),
  ),
  control(
    names.steer,
    'Says something to what runs in the background. It hears it before its next step.',
    { type: 'object', properties: { id, message: { type: 'string', description: 'What to say to it.' } }, required: ['id', 'message'] },
    (tasks, args) => {
      tasks.steer(String(args.id), String(args.message))
      return `Told ${JSON.stringify(args.id)}.`
    },
  ),
  control(
    names.stop,
    'Stops what runs in the background. What it has done stays done; its report says that it was stopped.',
    { type: 'object', properties: { id }, required: ['id'] },
    (tasks, args) => {
      tasks.stop(String(args.id))
      return `Stopping ${JSON.stringify(args.id)}.`
    },
  ),
]

function statusOf(all: readonly BackgroundView[], wanted: unknown): string {
  const shown = wanted === undefined ? all : all.filter(({ backgroundId }) => backgroundId === wanted)
  if (shown.length > 0) return shown.map(describe).join('\n\n')
  if (wanted === undefined) return 'Nothing was begun in the background in this run.'
  throw new ToolError('failed', `Nothing of the id ${JSON.stringify(wanted)} was begun in the background in this run.`)
}

function describe({ backgroundId, isRunning, elapsedMs, task, latest }: BackgroundView): string {
  const responseText = latest === undefined ? '' : textOf(latest.content).trimEnd()
  const newest = responseText.length > shownOfEach ? `… ${responseText.slice(-shownOfEach)}` : responseText
  const status = isRunning ? 'running' : latest?.isError === true ? 'failed' : 'ended'
  const time = `${Math.round(elapsedMs / 1000)} s`
  return [`${backgroundId}: ${status}, ${time}. Task: ${task}`, newest === '' ? 'It has said nothing yet.' : newest].join('\n')
}
