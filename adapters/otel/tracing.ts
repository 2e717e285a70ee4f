import {
  type Attributes,
  type Context,
  context,
  diag,
  type Histogram,
  isSpanContextValid,
  type Meter,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { TraceContext } from '../../src/loop.ts'
import { captured } from './content.ts'

/** Name of our spans' scope, and of the instruments. */
const scope = 'phi-core'

/** Options of tracing. Source: docs/reference/tracing.md */
export interface TraceOptions {
  /** Default: the tracer of the global tracer provider. */
  tracer?: Tracer
  /** Default: the meter of the global meter provider. */
  meter?: Meter
  /** Records the text of users, models and tools, as attributes of at most 65,536 UTF-16 units. Default: `false`. */
  captureContent?: boolean
}

/** How an operation ended. */
export interface Ending {
  /** Made only where anybody will see them. */
  attributes?: () => Attributes
  /** `message` is content: it is recorded only with `captureContent`. */
  error?: { type: string; message?: string | undefined }
  /** Epoch ms. Default: now. */
  at?: number | undefined
}

/** How an operation begins. */
export interface Beginning {
  name: string
  attributes: Attributes
  parent: Context
  kind?: SpanKind
  /** Epoch ms, for what is read from events. Default: now. */
  at?: number | undefined
}

const seconds = (...explicitBucketBoundaries: number[]) => ({ unit: 's', advice: { explicitBucketBoundaries } })

/** The histograms of the conventions, whose boundaries are those they ask for, and one of ours. */
const instruments = {
  'gen_ai.client.token.usage': {
    unit: '{token}',
    advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 4 ** power) },
  },
  'gen_ai.client.operation.duration': seconds(...Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)),
  'gen_ai.invoke_agent.duration': seconds(...Array.from({ length: 13 }, (_, power) => 0.1 * 2 ** power)),
  'gen_ai.execute_tool.duration': seconds(...Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)),
  // US dollars of a run, with those of its sub-agents, where prices are known.
  'phi.run.cost': { unit: 'USD', advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 0.0001 * 3 ** power) } },
  'gen_ai.workflow.duration': seconds(1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200),
} as const

export type InstrumentName = keyof typeof instruments

/**
 * What all traces of one `traceAgent` share: tracer and instruments, each asked for when it is first used.
 *
 * **Contract**: nothing here throws, whatever tracer, meter and context manager do. The first failure is told to the API's `diag` logger.
 */
export class Tracing {
  readonly capturesContent: boolean
  readonly #options: TraceOptions
  readonly #histograms = new Map<InstrumentName, Histogram | undefined>()
  #tracer: Tracer | undefined
  #hasFailed = false

  constructor(options: TraceOptions) {
    this.#options = options
    this.capturesContent = options.captureContent === true
  }

  /** Where the caller is; the root where nobody keeps track. */
  active(): Context {
    return this.quietly(() => context.active()) ?? ROOT_CONTEXT
  }

  /** Begins an operation. One whose span cannot be made is measured all the same. */
  begin({ name, attributes, parent, kind = SpanKind.INTERNAL, at }: Beginning): Operation {
    const span = this.quietly(() => {
      this.#tracer ??= this.#options.tracer ?? trace.getTracer(scope)
      return this.#tracer.startSpan(name, { kind, attributes, ...(at !== undefined && { startTime: at }) }, parent)
    })
    const inside = span && this.quietly(() => trace.setSpan(parent, span))
    return new Operation(this, span, inside ?? parent, at)
  }

  record(name: InstrumentName, value: number, attributes: Attributes): void {
    this.quietly(() => {
      if (!this.#histograms.has(name)) {
        this.#histograms.set(name, undefined)
        const meter = this.#options.meter ?? metrics.getMeter(scope)
        this.#histograms.set(name, meter.createHistogram(name, instruments[name]))
      }
      this.#histograms.get(name)?.record(value, attributes)
    })
  }

  /** What `act` returns; `undefined` where it fails. */
  quietly<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      this.#tell(error)
      return undefined
    }
  }

  #tell(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    try {
      diag.warn('phi-core: tracing failed, the run continues. Spans or metrics may be missing.', error)
    } catch {
      // Nobody is left to tell.
    }
  }
}

/** Something that takes time: one span, which ends once. Nothing throws; after the end nothing is recorded. */
export class Operation {
  /** What happens within it descends from this. */
  readonly context: Context
  /** Whether anybody will see what is recorded. */
  readonly isRecording: boolean
  readonly #tracing: Tracing
  readonly #startedAt: number
  #span: Span | undefined
  #isOpen = true

  constructor(tracing: Tracing, span: Span | undefined, inside: Context, at: number | undefined) {
    this.#tracing = tracing
    this.#span = span
    this.context = inside
    this.isRecording = span !== undefined && tracing.quietly(() => span.isRecording()) === true
    this.#startedAt = at ?? performance.now()
  }

  /** Its span, in the words of W3C Trace Context; undefined where there is none, or it has ended. */
  get trace(): TraceContext | undefined {
    const of = this.#span && this.#tracing.quietly(() => this.#span?.spanContext())
    if (of === undefined || !isSpanContextValid(of)) return undefined
    const tracestate = this.#tracing.quietly(() => of.traceState?.serialize())
    const traceparent = `00-${of.traceId}-${of.spanId}-${(of.traceFlags & 0xff).toString(16).padStart(2, '0')}`
    return { traceparent, ...(tracestate !== undefined && tracestate !== '' && { tracestate }) }
  }

  /** Seconds since it began; `at` where that was read from an event. */
  elapsed(at?: number): number {
    return Math.max(0, (at ?? performance.now()) - this.#startedAt) / 1000
  }

  set(attributes: Attributes): void {
    if (this.isRecording) this.#tracing.quietly(() => this.#span?.setAttributes(attributes))
  }

  /** Adds an event to the span. */
  note(name: string, attributes: Attributes, at?: number): void {
    if (this.isRecording) this.#tracing.quietly(() => this.#span?.addEvent(name, attributes, at))
  }

  /** Ends it, and returns the seconds it took; `undefined` where it has ended before. */
  end({ attributes, error, at }: Ending = {}): number | undefined {
    if (!this.#isOpen) return undefined
    this.#isOpen = false
    const span = this.#span
    this.#span = undefined
    const tracing = this.#tracing
    if (span !== undefined) {
      if (this.isRecording && attributes !== undefined) tracing.quietly(() => span.setAttributes(attributes()))
      if (this.isRecording && error !== undefined) {
        const message = tracing.capturesContent ? error.message : undefined
        tracing.quietly(() => span.setAttribute('error.type', error.type))
        tracing.quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message: captured(message) }) }))
      }
      // Whatever failed before.
      tracing.quietly(() => span.end(at))
    }
    return this.elapsed(at)
  }
}
