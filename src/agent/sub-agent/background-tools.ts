import { ToolError } from '../../contract/errors.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { text, textOf } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, BackgroundTasks, BackgroundView, ToolContext } from '../../types/tool/tool.ts'

/** Names of the tools that a model uses to control its background tasks. */
const names = { status: 'background_status', steer: 'background_steer', stop: 'background_stop' } as const

/** Maximum characters of a task's latest text to return to the model. Only the end is returned. */
const shownOfEach = 2000

const id = { type: 'string', description: 'The id returned by the call that started the task.' }

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
  if (ctx.background === undefined) throw new ToolError('failed', 'Background tasks exist only during a run.')
  return ctx.background()
}

/** Companions of every background tool. All tools share these objects, so that they are offered only once. */
export const backgroundTools: readonly AgentTool[] = [
  control(
    names.status,
    'Lists running and finished background tasks with their latest output. Reports arrive automatically, so do not poll.',
    { type: 'object', properties: { id: { ...id, description: 'The id of one task. Default: all tasks of this run.' } } },
    (tasks, args) => statusOf(tasks.list(), args.id),
  ),
  control(
    names.steer,
    'Sends a message to a running background task, which receives it before its next step.',
    { type: 'object', properties: { id, message: { type: 'string', description: 'The message to send.' } }, required: ['id', 'message'] },
    (tasks, args) => {
      tasks.steer(String(args.id), String(args.message))
      return `Told ${JSON.stringify(args.id)}.`
    },
  ),
  control(
    names.stop,
    'Stops a running background task. Completed work is not undone; the report says that the task was stopped.',
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
  if (wanted === undefined) return 'This run has not started any background task.'
  throw new ToolError('failed', `This run has no background task with the id ${JSON.stringify(wanted)}.`)
}

function describe({ backgroundId, isRunning, elapsedMs, task, latest }: BackgroundView): string {
  const responseText = latest === undefined ? '' : textOf(latest.content).trimEnd()
  const newest = responseText.length > shownOfEach ? `… ${responseText.slice(-shownOfEach)}` : responseText
  const status = isRunning ? 'running' : latest?.isError === true ? 'failed' : 'ended'
  const time = `${Math.round(elapsedMs / 1000)} s`
  return [`${backgroundId}: ${status}, ${time}. Task: ${task}`, newest === '' ? 'No output yet.' : newest].join('\n')
}
