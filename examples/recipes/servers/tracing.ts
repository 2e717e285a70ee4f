import { SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { Agent, defineTool } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { traceAgent } from 'phi-core/otel'
import { scripted } from 'phi-core/testing'

const forecast = defineTool<{ city: string }>({
  name: 'forecast',
  description: 'Weather forecast for tomorrow.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }) => `Rain in ${city}.`,
})

/** A tracer that prints each span when it ends, so nested spans are printed first. */
function consoleTracer(write: (line: string) => void): Tracer {
  const show = ({ name, attributes, events, status }: ReadableSpan): string => {
    const input = attributes['gen_ai.usage.input_tokens']
    const tokens = input === undefined ? '' : ` (${input} in, ${attributes['gen_ai.usage.output_tokens']} out)`
    const failed = status.code === SpanStatusCode.ERROR ? ` failed: ${attributes['error.type']}` : ''
    return [`${name}${tokens}${failed}`, ...events.map((event) => `  ${event.name}: ${event.attributes?.['error.type']}`)].join('\n')
  }
  const exporter: SpanExporter = {
    export: (spans, done) => {
      for (const span of spans) write(show(span))
      done({ code: 0 })
    },
    shutdown: async () => undefined,
  }
  return new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('example')
}

export async function tracedToConsole(write: (line: string) => void): Promise<void> {
  // Scripted models: no request is sent.
  const small = scripted(
    [
      { toolCalls: [{ name: 'forecast', arguments: { city: 'Oslo' } }], usage: { input: 30, output: 8 } },
      { text: 'Rain.', usage: { input: 45, output: 2 } },
    ],
    { id: 'small' },
  )
  const large = scripted(
    [
      { toolCalls: [{ name: 'meteorologist', arguments: { task: 'Oslo, tomorrow' } }], usage: { input: 50, output: 12 } },
      { fail: { code: 'rateLimited', message: 'Too many requests.' } },
      { text: 'Take an umbrella.', usage: { input: 70, output: 5 } },
    ],
    { id: 'large' },
  )
  const meteorologist = new SubAgentTool({ name: 'meteorologist', description: 'Knows the weather.', model: small, tools: [forecast] })
  const agent = new Agent({ model: large, agentName: 'concierge', tools: [meteorologist], retry: { initialDelayMs: 0 } })
  const tracing = traceAgent(agent, { tracer: consoleTracer(write) })
  write(await agent.prompt('What do I need in Oslo tomorrow?').text())
  tracing.stop()
}
