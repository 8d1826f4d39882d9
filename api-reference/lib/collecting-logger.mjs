// @ts-check
import { Logger, LogLevel } from 'typedoc';

/** What typedoc has to say from a warning on, one text each, in place of printing it. */
export class CollectingLogger extends Logger {
  /** @type {string[]} */
  messages = [];

  /** @override @param {string} message @param {LogLevel} level */
  log(message, level) {
    super.log(message, level);
    if (level >= LogLevel.Warn) this.messages.push(message);
  }
}
