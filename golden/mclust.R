# mclust.json: results of R's mclust. `faithful` are two single fits; `tables` are its grids of BIC (−2 log-likelihood
# plus penalty, smaller is better) over fourteen structures and one to nine components; `msteps` are covariances of one
# M-step for given responsibilities, for every structure; `priors` are means and covariances of the same M-step under mclust's
# default prior; `bootstrap` are likelihood ratios of k against k + 1 components and their p-values by 999 tables drawn from k.
# mclust starts from a hierarchical clustering, once, and stops early by default, so that its likelihoods are
# lower bounds rather than maxima; the M-steps are exact except for EVE and VVE, whose search also stops early.

suppressMessages(library(mclust))

number <- function(x) ifelse(is.na(x), "null", sprintf("%.15g", x))
vector_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")

faithful_table <- read.csv("faithful.csv")

entry <- function(name, components) {
  model <- Mclust(faithful_table, G = components, modelNames = name, verbose = FALSE)
  sprintf('  {"name": "%s", "components": %d, "log_likelihood": %.15g, "bic": %.15g, "parameters": %d}',
          name, components, model$loglik, -model$bic, as.integer(model$df))
}
entries <- c(entry("VVV", 2), entry("EEE", 3))

grid <- function(file) {
  table <- read.csv(file)
  names <- if (ncol(table) == 1) c("E", "V") else mclust.options("emModelNames")
  bic <- -unclass(mclustBIC(table, G = 1:9, modelNames = names, verbose = FALSE))
  rows <- sapply(names, function(name) sprintf('   "%s": %s', name, vector_of(bic[, name])))
  sprintf('  "%s": {\n%s\n  }', sub(".csv", "", file), paste(rows, collapse = ",\n"))
}
tables <- sapply(c("faithful.csv", "iris.csv", "galaxies.csv", "crabs.csv"), grid)

# Arbitrary responsibilities of three components, smooth in the first column.
iris_table <- as.matrix(read.csv("iris.csv"))
x <- iris_table[, 1]
z <- cbind(exp(-(x - 5)^2), exp(-(x - 6)^2 / 2), exp(-(x - 7)^2 / 3))
z <- z / rowSums(z)
step <- function(name) {
  model <- mstep(name, data = iris_table, z = z, control = emControl(tol = c(1e-5, 1e-12), itmax = c(.Machine$integer.max, 10000)))
  sigma <- model$parameters$variance$sigma
  sprintf('  "%s": %s', name, vector_of(as.vector(sigma)))
}
steps <- sapply(mclust.options("emModelNames"), step)

regularised <- function(name) {
  model <- mstep(name, data = iris_table, z = z, prior = priorControl())
  sprintf('  "%s": {"means": %s, "covariances": %s}', name, vector_of(as.vector(model$parameters$mean)),
          vector_of(as.vector(model$parameters$variance$sigma)))
}
# EII, EEI and EEV do not follow the published formulas to the last digits (Fraley & Raftery 2007).
priors <- sapply(c("VII", "VVI", "EEE", "VVV"), regularised)

tests <- function(file, name, most) {
  set.seed(20240501)
  test <- mclustBootstrapLRT(read.csv(file), modelName = name, nboot = 999, maxG = most, verbose = FALSE)
  sprintf('  {"table": "%s", "name": "%s", "statistics": %s, "p_values": %s}', sub(".csv", "", file), name,
          vector_of(test$obs), vector_of(test$p.value))
}
bootstrap <- c(tests("faithful.csv", "EEE", 3), tests("faithful.csv", "VVV", 2), tests("galaxies.csv", "V", 3))

writeLines(c(
  "{",
  sprintf(' "made_with": {"R": "%s", "mclust": "%s"},', getRversion(), packageVersion("mclust")),
  ' "faithful": [', paste(entries, collapse = ",\n"), " ],",
  ' "tables": {', paste(tables, collapse = ",\n"), " },",
  ' "msteps": {', paste(steps, collapse = ",\n"), " },",
  ' "priors": {', paste(priors, collapse = ",\n"), " },",
  ' "bootstrap": [', paste(bootstrap, collapse = ",\n"), " ]",
  "}"
), "mclust.json")
cat("mclust.json:", file.size("mclust.json") / 1000, "kB\n")
