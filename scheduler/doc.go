// Package scheduler decides what is crawled next: the contract between the
// engine and a frontier, and the default frontier with its priority queues, its
// memory and disk queues, its duplicate filter and Scrapy's fingerprints.
package scheduler
