/** Where a piece of work stands in a distributed trace, in the words of W3C Trace Context: what it asks of others goes on with it. Source: docs/concepts/tracing.md */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  traceparent: string
  tracestate?: string
}
