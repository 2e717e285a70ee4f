import { metrics, trace } from '@opentelemetry/api'
import { type TraceOptions, traceAgent, traceLoops } from '../../adapters/otel/index.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { checkedOptions } from './surface.ts'

const sample: Required<TraceOptions> = { tracer: trace.getTracer('test'), meter: metrics.getMeter('test'), captureContent: true }
const agent = new Agent({ model: scripted([]) })

checkedOptions<TraceOptions>('traceAgent', sample, (options) => traceAgent(agent, options))
checkedOptions<TraceOptions>('traceLoops', sample, traceLoops)
