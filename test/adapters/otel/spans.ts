import { SpanStatusCode, type Tracer } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type Span,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** A tracer of the official SDK, and what it has begun and exported so far. */
export function memoryTracer() {
  const exporter = new InMemorySpanExporter()
  const started: Span[] = []
  const watching: SpanProcessor = {
    onStart: (span) => void started.push(span),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  }
  const provider = new BasicTracerProvider({ spanProcessors: [watching, new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  return { tracer, started: (): readonly Span[] => started, spans: (): ReadableSpan[] => exporter.getFinishedSpans() }
}

/**
 * Spans as an outline: below each what it is the parent of, in the order of `spans`, which is that in which they began; errors and span events beside
 * them.
 */
export function outline(spans: readonly ReadableSpan[]): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanContext: of }) => (of !== undefined && ids.has(of.spanId) ? of.spanId : undefined) === parent)
      .flatMap((span) => [`${'  '.repeat(depth)}${line(span)}`, ...below(span.spanContext().spanId, depth + 1)])
  return below(undefined, 0)
}

function line({ name, status, attributes, events }: ReadableSpan): string {
  const failed = status.code === SpanStatusCode.ERROR ? [`!${attributes['error.type']}`] : []
  const noted = events.map((event) => `(${event.name} ${event.attributes?.['error.type'] ?? ''})`)
  return [name, ...failed, ...noted].join(' ')
}

/** Everything that was exported, as text to be searched. */
export function everything(spans: readonly ReadableSpan[]): string {
  return JSON.stringify(spans.map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links })))
}

/** As {@link memoryTracer}, and how often each span was ended. */
export function countingTracer() {
  const { tracer, started } = memoryTracer()
  const ends = new Map<string, number>()
  const counting: Tracer = {
    startSpan(...args) {
      const span = tracer.startSpan(...args)
      const { spanId } = span.spanContext()
      const end = span.end.bind(span)
      ends.set(spanId, 0)
      span.end = (at) => {
        ends.set(spanId, (ends.get(spanId) ?? 0) + 1)
        end(at)
      }
      return span
    },
    startActiveSpan: () => {
      throw new Error('not used')
    },
  }
  return { tracer: counting, started, ends: (): number[] => [...ends.values()] }
}
