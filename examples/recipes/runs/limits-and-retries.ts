import { Agent, type Logger, type Model } from 'phi-core'
import { defaultLimits, defaultRetry } from 'phi-core/loop'

export function carefulAgent(model: Model, logger: Logger): Agent {
  return new Agent({
    model,
    limits: { ...defaultLimits, maxTurns: 10, maxCost: 0.5 }, // USD; needs rates in the model's `cost`
    retry: { ...defaultRetry, maxRetries: 5, initialDelayMs: 500 },
    toolTimeoutMs: 30_000,
    logger, // learns of every retry
  })
}
