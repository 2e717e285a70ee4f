// Entry `./otel`. Imports only `@opentelemetry/api`, which does nothing on its own.
export { type MeterAppOptions, meterApp } from './meter-app.ts'
export { type AgentTrace, type LoopTracer, traceAgent, traceLoops } from './trace-agent.ts'
export type { TraceOptions } from './tracing.ts'
