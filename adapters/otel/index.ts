// Entry `./otel`. Imports only `@opentelemetry/api`, which does nothing by itself.
export { type MeterAppOptions, meterApp } from './meter-app.ts'
export { type AgentTrace, type LoopTracer, traceAgent, traceLoops } from './trace-agent.ts'
export type { TraceOptions } from './tracing.ts'
