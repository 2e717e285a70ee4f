import { type AgentEvent, estimatedCost, type Model, type Usage } from 'phi-core'

/** One bar of the trace: a model call or a tool call. */
interface Bar {
  name: string
  from: number
  to: number
}

const width = 32

/** Records the time of each step, and draws the trace at the end. */
export function traceOf(model: Model) {
  const bars: Bar[] = []
  const open = new Map<string, { name: string; from: number }>()
  const end = (id: string, at: number) => {
    const begun = open.get(id)
    if (begun !== undefined) bars.push({ ...begun, to: at })
    open.delete(id)
  }
  return {
    event(event: AgentEvent): void {
      if (event.type === 'turnStart') open.set('turn', { name: 'model', from: event.at })
      if (event.type === 'messageEnd' && event.message.role === 'assistant') end('turn', event.at)
      if (event.type === 'toolExecutionStart') open.set(event.toolCallId, { name: event.toolName, from: event.at })
      if (event.type === 'toolExecutionEnd') end(event.toolCallId, event.at)
    },
    lines(usage: Usage): string[] {
      const [first, last] = [Math.min(...bars.map(({ from }) => from)), Math.max(...bars.map(({ to }) => to))]
      const column = (at: number) => Math.round(((at - first) / Math.max(1, last - first)) * width)
      const drawn = bars.map(({ name, from, to }) => {
        const bar = '▇'.repeat(Math.max(1, column(to) - column(from)))
        return `  ${name.padEnd(10)} ${(' '.repeat(column(from)) + bar).slice(0, width).padEnd(width)} ${((to - from) / 1000).toFixed(1)} s`
      })
      const cost = estimatedCost(usage, model.config.cost)
      const money = cost === undefined ? '' : `, $${cost.toFixed(4)}`
      return [...drawn, `  ${usage.input + usage.output} tokens${money}, ${((last - first) / 1000).toFixed(1)} s`]
    },
  }
}
