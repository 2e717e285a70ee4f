import { type AgentTool, defineTool } from '../../../src/index.ts'
import { listFilesTool, memoryWorkspace, prunTools, readFileTool, revertTool, searchTool, writeFileTool } from '../../../src/tools.ts'
import { files } from './files.ts'
import { naturalist } from './naturalist.ts'
import { pace } from './pace.ts'

/** The demo's tools: the SDK's file tools, where writing requires approval, the context tools, two custom tools, and a sub-agent. */
export function demoTools(): AgentTool[] {
  const workspace = memoryWorkspace(files)
  return [
    listFilesTool({ workspace }),
    readFileTool({ workspace }),
    searchTool({ workspace }),
    { ...writeFileTool({ workspace }), needsApproval: true },
    measureTool,
    positionTool,
    ...prunTools(),
    revertTool(),
    naturalist(workspace),
  ]
}

/** Shows what a tool can report while it runs: progress lines, a growing partial result, and data for the page. */
const measureTool = defineTool({
  name: 'measure_drift',
  label: 'Measure the drift',
  description: 'Takes bearings for a while and returns how far the ship has drifted.',
  parameters: {
    type: 'object',
    properties: { bearings: { type: 'integer', minimum: 1, maximum: 10 } },
    required: ['bearings'],
    additionalProperties: false,
  },
  async execute(args, ctx) {
    const bearings = Number(args.bearings)
    const lines: string[] = []
    for (let taken = 1; taken <= bearings; taken++) {
      await pause(350 * pace, ctx.signal)
      lines.push(`bearing ${taken}: ${(taken * 0.4).toFixed(1)} nautical miles`)
      ctx.data('drift', { bearings: taken, miles: Math.round(taken * 4) / 10 }, { id: ctx.toolCallId })
      if (taken < bearings) ctx.data('nextBearing', { number: taken + 1 }, { id: ctx.toolCallId, transient: true })
      ctx.progress(`${taken} of ${bearings} bearings taken`)
      ctx.update({ content: [{ type: 'text', text: lines.join('\n') }] })
    }
    return `Drift after ${bearings} bearings: ${(bearings * 0.4).toFixed(1)} nautical miles to the south.`
  },
})

const positionTool = defineTool({
  name: 'take_position',
  label: 'Take the position',
  description: 'Returns the position of the ship.',
  parameters: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  execute({ number }) {
    const at = Number(number)
    return `${(79 + at / 90).toFixed(3)}° N, ${(130 - at / 40).toFixed(3)}° E`
  },
})

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
