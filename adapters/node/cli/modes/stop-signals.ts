/** Signals that end phi, and the exit codes that say so. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const codeOf: Readonly<Record<(typeof stopSignals)[number], number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
