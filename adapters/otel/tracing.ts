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

/** Scope name of our spans and instruments. */
const scope = 'phi-core'

/** Options for tracing. Source: docs/reference/tracing.md */
export interface TraceOptions {
  /** Default: the tracer of the global tracer provider. */
  tracer?: Tracer
  /** Default: the meter of the global meter provider. */
  meter?: Meter
  /** Whether to record text from users, models and tools, as attributes of at most 65,536 UTF-16 units. Default: `false`. */
  captureContent?: boolean
}

/** How an operation ended. */
export interface Ending {
  /** Computed only if the span is recorded. */
  attributes?: () => Attributes
  /** `message` is content, so it is recorded only with `captureContent`. */
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
  /** Epoch milliseconds of an event. Default: now. */
  at?: number | undefined
}

const seconds = (...explicitBucketBoundaries: number[]) => ({ unit: 's', advice: { explicitBucketBoundaries } })

/** Histograms of the semantic conventions with their boundaries, and one of our own. */
const instruments = {
  'gen_ai.client.token.usage': {
    unit: '{token}',
    advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 4 ** power) },
  },
  'gen_ai.client.operation.duration': seconds(...Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)),
  'gen_ai.invoke_agent.duration': seconds(...Array.from({ length: 13 }, (_, power) => 0.1 * 2 ** power)),
  'gen_ai.execute_tool.duration': seconds(...Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)),
  // Cost in US dollars of a run with its sub-agents, if prices are known.
  'phi.run.cost': { unit: 'USD', advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 0.0001 * 3 ** power) } },
  'gen_ai.workflow.duration': seconds(1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200),
} as const

export type InstrumentName = keyof typeof instruments

/**
 * Tracer and instruments that all traces of one `traceAgent` share, created on first use.
 *
 * **Contract**: never throws, whatever tracer, meter and context manager do. The first failure goes to the API's `diag` logger.
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

  /** Returns the caller's context, or the root context if there is no context manager. */
  active(): Context {
    return this.quietly(() => context.active()) ?? ROOT_CONTEXT
  }

  /** Starts an operation. It is measured even if its span cannot be created. */
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

  /** Returns the result of `act`, or `undefined` if it throws. */
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
      // There is no other way to report the failure.
    }
  }
}

/** An operation with one span that ends once. Never throws. Records nothing after its end. */
export class Operation {
  /** The parent context of nested operations. */
  readonly context: Context
  /** Whether the span is recorded. */
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

  /** Its span in W3C Trace Context form, or `undefined` without a span or after its end. */
  get trace(): TraceContext | undefined {
    const of = this.#span && this.#tracing.quietly(() => this.#span?.spanContext())
    if (of === undefined || !isSpanContextValid(of)) return undefined
    const tracestate = this.#tracing.quietly(() => of.traceState?.serialize())
    const traceparent = `00-${of.traceId}-${of.spanId}-${(of.traceFlags & 0xff).toString(16).padStart(2, '0')}`
    return { traceparent, ...(tracestate !== undefined && tracestate !== '' && { tracestate }) }
  }

  /** Returns the seconds since its start. `at` is an event's time. */
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

  /** Ends the operation. Returns its duration in seconds, or `undefined` if it has already ended. */
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
      // End the span regardless of earlier failures.
      tracing.quietly(() => span.end(at))
    }
    return this.elapsed(at)
  }
}
