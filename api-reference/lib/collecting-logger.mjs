// @ts-check
import { Logger, LogLevel } from 'typedoc';

/** Collects typedoc's warnings and errors, one text each, instead of printing them. */
export class CollectingLogger extends Logger {
  /** @type {string[]} */
  messages = [];

  /** @override @param {string} message @param {LogLevel} level */
  log(message, level) {
    super.log(message, level);
    if (level >= LogLevel.Warn) this.messages.push(message);
  }
}
